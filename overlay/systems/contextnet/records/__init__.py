"""Records of the log: their topics, their values, and their bytes. Pure.

Each module imports only those below it::

        codec               bytes
        table               every record, field by field
        fast | maps         the message without the table; a record as a map
        kinds               types of fields, with their limits
        names | records     topics; values
"""
