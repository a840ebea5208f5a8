"""python -m infomeans."""

from infomeans.cli import app

if __name__ == "__main__":
    app(prog_name="infomeans")
