"""The declaration of a competition: read strictly, checked as a whole, resolved into what is to be built."""
