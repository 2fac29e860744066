"""The door to the rules: one module per folder of the SQL, one function per public SQL function.

Dull on purpose. Values go down, one row comes back; nothing here decides, retries or remembers.
"""
