"""One tolerant reader of tables: a format of gold or of answers is one file here; reading.py knows them all."""
