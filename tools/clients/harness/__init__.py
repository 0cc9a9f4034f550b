"""What tools/clients-check is made of."""
