"""Quiet modes: what is not done although it could be, because the owner said so or has not agreed yet."""
