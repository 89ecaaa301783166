"""The lake's tables as Spark types, derived from ``telemetry.lake.records``, so that Spark need not infer them."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql.types import BooleanType, DataType, LongType, MapType, StringType, StructField, StructType

from telemetry.lake.records import STORED


def _spark_type(arrow: pa.DataType) -> DataType:
    if pa.types.is_map(arrow):
        return MapType(StringType(), LongType())
    if pa.types.is_boolean(arrow):
        return BooleanType()
    return LongType() if pa.types.is_int64(arrow) else StringType()


def table_schema(name: str) -> StructType:
    """The columns of table ``name`` and its partition, ``run``, which is always text."""
    columns = [StructField(field.name, _spark_type(field.type)) for field in STORED[name]]
    return StructType([*columns, StructField("run", StringType())])
