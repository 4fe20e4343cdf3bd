"""`python -m spectrace`: the command line where the script is not on PATH."""

from spectrace.cli import main

if __name__ == "__main__":
    main()
