"""What tools/hosts-check is made of."""
