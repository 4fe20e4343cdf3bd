"""The state of the order desk, and how it is at the start of every episode. Money is integer cents."""

from dataclasses import asdict, dataclass, field


@dataclass(slots=True)
class Customer:
    """A customer; `vouchers` are the amounts of those issued so far."""

    name: str
    email: str
    vouchers: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Product:
    """A product of the catalogue."""

    name: str
    price: int
    stock: int


@dataclass(slots=True)
class Order:
    """An order. `status`: open, shipped, delivered, returned or cancelled."""

    customer: str
    status: str
    items: list[str]
    address: str
    late: bool = False
    refunded: int = 0
    return_started: bool = False


@dataclass(slots=True)
class Desk:
    """Everything that the tools see and change."""

    customers: dict[str, Customer]
    products: dict[str, Product]
    orders: dict[str, Order]

    def snapshot(self) -> dict[str, object]:
        """Return the whole state as plain values."""
        return asdict(self)

    def total(self, order: Order) -> int:
        """Return what was paid for an order."""
        return sum(self.products[item].price for item in order.items)


def new_desk() -> Desk:
    """Return the desk as every task finds it."""
    return Desk(
        customers={
            "C11": Customer("Ana Silva", "ana@mail.example"),
            "C12": Customer("Ben Okoro", "ben@mail.example"),
            "C13": Customer("Carla Meyer", "carla@mail.example"),
            "C14": Customer("Dan Novak", "dan@mail.example", [500]),
            "C15": Customer("Eva Lind", "eva@mail.example"),
        },
        products={
            "P1": Product("mug blue", 1500, 8),
            "P2": Product("mug green", 1500, 3),
            "P3": Product("desk lamp", 4500, 2),
            "P4": Product("kettle", 8900, 5),
            "P5": Product("tea towel red", 900, 20),
            "P6": Product("tea towel grey", 900, 0),
            "P7": Product("wall clock", 3200, 4),
            "P8": Product("teapot", 5200, 1),
        },
        orders={
            "W200": Order("C11", "open", ["P1", "P5"], "4 Elm St, York"),
            "W201": Order("C12", "shipped", ["P4"], "9 Quay, Bath"),
            "W202": Order("C12", "open", ["P7"], "9 Quay, Bath"),
            "W203": Order("C13", "open", ["P3"], "2 Hill Rd, Leeds"),
            "W204": Order("C13", "delivered", ["P1", "P1"], "2 Hill Rd, Leeds"),
            "W205": Order("C15", "delivered", ["P4"], "7 Park Row, Hull"),
            "W206": Order("C14", "returned", ["P8"], "1 Bell Ct, Ely", return_started=True),
            "W207": Order("C11", "delivered", ["P1"], "4 Elm St, York"),
            "W208": Order("C12", "delivered", ["P5"], "9 Quay, Bath", late=True),
            "W209": Order("C14", "delivered", ["P7"], "1 Bell Ct, Ely", late=True),
            "W210": Order("C14", "open", ["P3"], "1 Bell Ct, Ely"),
            "W211": Order("C14", "open", ["P7", "P5"], "1 Bell Ct, Ely"),
            "W212": Order("C15", "shipped", ["P2"], "7 Park Row, Hull"),
        },
    )
