"""Pictures: what may be decoded, where, and what is made of it.

Nothing here decodes in the process that asks. `studio.py` is the door; behind it stand the
zygote, the child, the jail and, only inside those, the image library.
"""
