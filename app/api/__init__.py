"""How is the program used over HTTP? Thin routes over the services; start at `application`."""
