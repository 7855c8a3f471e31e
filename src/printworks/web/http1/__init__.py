"""HTTP/1.1 to the letter: reads heads and bodies strictly, so that every refusal is ours."""
