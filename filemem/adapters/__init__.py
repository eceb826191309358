"""The four tools as the frameworks have them: a module each, which alone imports it."""
