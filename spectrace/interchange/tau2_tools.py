"""What the tools of the τ² domains do, by name, as the benchmark itself marks them (READ, WRITE, GENERIC).

Result files rarely hold the tools' definitions, and the benchmark's package is optional, so the marks stand here. The
names do not clash between domains with different effects. Pure GENERIC tools are reads; `transfer_to_human_agents`
ends the dialogue and is a write (PROTOCOL section 2).
"""

import json

from spectrace.core.types import Effect, ToolSpec
from spectrace.interchange import json_text

_READS = {
    "airline": "calculate get_flight_status get_reservation_details get_user_details list_all_airports "
    "search_direct_flight search_onestop_flight think",
    "retail": "calculate find_user_id_by_email find_user_id_by_name_zip get_item_details get_order_details "
    "get_product_details get_user_details list_all_product_types think",
    "telecom": "get_bills_for_customer get_customer_by_id get_customer_by_name get_customer_by_phone get_data_usage "
    "get_details_by_id can_send_mms check_apn_settings check_app_permissions check_app_status "
    "check_data_restriction_status check_installed_apps check_network_mode_preference check_network_status "
    "check_payment_request check_sim_status check_status_bar check_vpn_status check_wifi_calling_status "
    "check_wifi_status run_speed_test",
    "mock": "get_users",
}
"""Agent's and, in telecom, user's tools that change nothing."""
_WRITES = {
    "airline": "book_reservation cancel_reservation send_certificate transfer_to_human_agents "
    "update_reservation_baggages update_reservation_flights update_reservation_passengers",
    "retail": "cancel_pending_order exchange_delivered_order_items modify_pending_order_address "
    "modify_pending_order_items modify_pending_order_payment modify_user_address return_delivered_order_items "
    "transfer_to_human_agents",
    "telecom": "disable_roaming enable_roaming refuel_data resume_line send_payment_request suspend_line "
    "transfer_to_human_agents connect_vpn disconnect_vpn grant_app_permission make_payment reboot_device "
    "reseat_sim_card reset_apn_settings set_apn_settings set_network_mode_preference toggle_airplane_mode toggle_data "
    "toggle_data_saver_mode toggle_roaming toggle_wifi toggle_wifi_calling",
    "mock": "create_task transfer_to_human_agents update_task_status",
}
"""Those that change something. A name in neither table is a write by default."""


def effects(domain: str, tools: tuple[ToolSpec, ...]) -> dict[str, Effect]:
    """Return the known effects by tool name; what a file's own definitions mark comes before the table."""
    known = dict.fromkeys(_READS.get(domain, "").split(), Effect.READ)
    return known | {tool.name: tool.effect for tool in tools}


def defined_tools(domain: str, text: str | None) -> tuple[ToolSpec, ...]:
    """Return the tools that a file's `tool_defs` define: an object by name, or an array of definitions."""
    if json_text.is_object(text):
        named = json_text.members(text or "")
    elif json_text.is_array(text):
        named = {str(place): tool for place, tool in enumerate(json_text.items(text or ""))}
    else:
        return ()
    return tuple(_tool(domain, name, json_text.members(tool)) for name, tool in named.items() if tool[0] == "{")


def _tool(domain: str, name: str, tool: dict[str, str]) -> ToolSpec:
    if json_text.is_object(tool.get("function")):  # as sent to a model: {"type": "function", "function": {...}}
        tool = tool | json_text.members(tool["function"])
    name = json_text.string(tool.get("name")) or name
    effect, by = _effect(domain, name, tool)
    return ToolSpec(
        name=name,
        description=json_text.string(tool.get("description")) or json_text.string(tool.get("doc")) or "",
        parameters=next((tool[key] for key in ("parameters", "params") if json_text.is_object(tool.get(key))), "{}"),
        effect=effect,
        effect_by=by,
    )


def _effect(domain: str, name: str, tool: dict[str, str]) -> tuple[Effect, str]:
    """Return the effect and who says so: the file's own mark, the table, or nobody."""
    if tool.get("mutates_state") in {"true", "false"} and name != "transfer_to_human_agents":
        return (Effect.WRITE if json.loads(tool["mutates_state"]) else Effect.READ), "declared"
    kind = (json_text.string(tool.get("tool_type")) or "").lower()
    if kind in {"read", "write"}:
        return Effect(kind), "declared"
    if name in _READS.get(domain, "").split():
        return Effect.READ, "environment"
    return Effect.WRITE, "environment" if name in _WRITES.get(domain, "").split() else "default"
