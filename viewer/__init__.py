"""The viewer: Streamlit pages over `audit.queries`."""
