from spectrace.environments.shop_data import new_desk


def test_every_desk_is_equal_and_none_is_shared():
    first, second = new_desk(), new_desk()
    same_at_first = first == second
    first.customers["C11"].vouchers.append(500)

    assert (same_at_first, first == second, second == new_desk()) == (True, False, True)


def test_every_order_names_a_customer_and_products_that_exist():
    desk = new_desk()
    named = [(order.customer, item) for order in desk.orders.values() for item in order.items]

    assert {customer for customer, _ in named} <= set(desk.customers)
    assert {item for _, item in named} <= set(desk.products)
