"""filemem in the frameworks that people use: each module is for one of them, and imports it; nothing else here does."""
