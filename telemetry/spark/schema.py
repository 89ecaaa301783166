"""The lake's tables as Spark types, so that Spark need not infer them.

Counterpart: ``telemetry.systems.registry.schemas`` has the columns.
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from telemetry.systems.registry import schemas


def _spark_type(arrow: pa.DataType) -> DataType:
    if pa.types.is_map(arrow):
        return MapType(StringType(), LongType())
    if pa.types.is_list(arrow):
        return ArrayType(_spark_type(arrow.value_type))
    if pa.types.is_float64(arrow):
        return DoubleType()
    if pa.types.is_boolean(arrow):
        return BooleanType()
    return LongType() if pa.types.is_int64(arrow) else StringType()


def table_schema(name: str) -> StructType:
    """The columns of table ``name`` and its partition, ``run``, which is always text."""
    columns = [StructField(field.name, _spark_type(field.type)) for field in schemas()[name]]
    return StructType([*columns, StructField("run", StringType())])
