import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class JobDispatchEvent(_message.Message):
    __slots__ = ("schema_version", "dedup_id", "job_id", "instance_id", "step_execution_id", "job_type", "step_id", "retries_remaining", "lease", "job_payload", "progress", "trace_context", "created_at")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    DEDUP_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_ID_FIELD_NUMBER: _ClassVar[int]
    STEP_EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_TYPE_FIELD_NUMBER: _ClassVar[int]
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    RETRIES_REMAINING_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    JOB_PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    TRACE_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    schema_version: int
    dedup_id: str
    job_id: str
    instance_id: str
    step_execution_id: str
    job_type: str
    step_id: str
    retries_remaining: int
    lease: int
    job_payload: bytes
    progress: bytes
    trace_context: bytes
    created_at: _timestamp_pb2.Timestamp
    def __init__(self, schema_version: _Optional[int] = ..., dedup_id: _Optional[str] = ..., job_id: _Optional[str] = ..., instance_id: _Optional[str] = ..., step_execution_id: _Optional[str] = ..., job_type: _Optional[str] = ..., step_id: _Optional[str] = ..., retries_remaining: _Optional[int] = ..., lease: _Optional[int] = ..., job_payload: _Optional[bytes] = ..., progress: _Optional[bytes] = ..., trace_context: _Optional[bytes] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
