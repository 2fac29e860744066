"""`python -m lockgate_ops` is the `lockgate` command."""

from lockgate_ops.command import main

if __name__ == "__main__":
    main()
