"""Image processing: validates pictures, and renders proofs and print files.

Nothing is decoded in the calling process. `processor.py` is the entry point; it starts zygotes,
which fork a jailed child for each picture. Only children use the image library.
"""
