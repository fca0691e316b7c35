"""How passages are found, ranked and chosen."""
