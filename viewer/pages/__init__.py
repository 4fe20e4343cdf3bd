"""The viewer's two pages: the list of episodes, and one episode."""
