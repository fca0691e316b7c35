"""Who plays the roles: a chat model behind an endpoint, or rules that need none."""
