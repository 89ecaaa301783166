from tests.soak.subject import Bank

BUGS = Bank()
