"""Alarms of networks: rules on their time series, whose states the live feed updates every ten seconds.

- ``rules``       when an alarm is pending, firing and resolved; pure
- ``measures``    what can be watched, with units
- ``services``    create, list, delete
- ``evaluation``  called by the process that probes: new steps in, changes of states out

Notifications about alarms are in ``brokerweb.notices``.
"""
