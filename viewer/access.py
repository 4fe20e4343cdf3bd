"""Who is shown anything: asked before each drawing, whatever page the address names.

On this machine's own address: whoever can reach it, or if a login is configured ([auth] in Streamlit's secrets.toml),
whoever has logged in. On any other address, and where none was given (Streamlit then listens on all): only whoever has
logged in. `spectrace view` refuses such an address earlier; this holds for `streamlit run` too. A provider that anybody
can have an account with is no bar, so `users` under [spectrace] in the same file names those let in, by their e-mail
addresses or as `*@example.org`.
"""

import ipaddress
from collections.abc import Sequence
from fnmatch import fnmatchcase

import streamlit as st

from viewer.literal import inline

_PARTS = ("client_id", "client_secret", "server_metadata_url")


def admitted() -> bool:
    """Whether the page may be drawn; where not, what there is to do is drawn instead."""
    logged_in = st.user.to_dict().get("is_logged_in")  # there is such a field where a login is configured
    address = st.get_option("server.address")
    if logged_in is None:
        if is_local(address):
            return True
        _refused(str(address or "every address of this machine"))
        return False
    if logged_in is not True:
        _login()
        return False
    email = str(st.user.to_dict().get("email") or "")
    if not is_named(email, st.user.to_dict().get("email_verified"), st.secrets.get("spectrace", {}).get("users")):
        _notice(
            "You are not let in here",
            f"You are logged in as {inline(email) or 'somebody without an e-mail address'}, "
            "which [spectrace] users in secrets.toml does not name.",
        )
        st.button("Log out", key="log-out", on_click=st.logout)
        return False
    return True


def is_local(address: object) -> bool:
    """Whether that address can be reached from this machine only; to listen on none named is to listen on all."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(str(address)).is_loopback
    except ValueError:
        return False


def is_named(email: str, verified: object, users: Sequence[str] | None) -> bool:
    """Whether somebody is let in; an address that the provider says is not checked is nobody's."""
    if users is None:
        return True
    if not email or verified is False or isinstance(users, str):
        return False
    return any(fnmatchcase(email.casefold(), str(user).casefold()) for user in users)


def _refused(address: str) -> None:
    _notice(
        "The viewer shows nothing here",
        f"It listens on {inline(address)}, where others can reach it, and no login is configured. Start it with "
        "`spectrace view`, which listens on 127.0.0.1 only; or configure a login: [auth] in .streamlit/secrets.toml, "
        "see Streamlit's st.login.",
    )


def _login() -> None:
    _notice("Log in", "What is recorded here is shown to whoever has logged in.")
    auth = st.secrets.get("auth", {})
    if all(part in auth for part in _PARTS):
        st.button("Log in", key="log-in", on_click=st.login)
    for number, (name, section) in enumerate(auth.items()):
        if isinstance(name, str) and hasattr(section, "keys") and all(part in section for part in _PARTS):
            st.button("Log in", key=f"log-in-{number}", on_click=st.login, args=(name,))


def _notice(title: str, words: str) -> None:
    with st.container(key="notice", border=True):
        with st.container(key="notice-title"):
            st.text(title)
        st.text(words)
