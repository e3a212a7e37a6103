"""Which language a text is in: profiles, identification, block features, broken encodings."""
