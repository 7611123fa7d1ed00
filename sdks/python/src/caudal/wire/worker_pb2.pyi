import datetime

from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Job(_message.Message):
    __slots__ = ("id", "job_type", "instance_id", "step_id", "step_execution_id", "retries_remaining", "variables", "lock_expires_at", "lease", "progress", "trace_context")
    class TraceContextEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    JOB_TYPE_FIELD_NUMBER: _ClassVar[int]
    INSTANCE_ID_FIELD_NUMBER: _ClassVar[int]
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    STEP_EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    RETRIES_REMAINING_FIELD_NUMBER: _ClassVar[int]
    VARIABLES_FIELD_NUMBER: _ClassVar[int]
    LOCK_EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    TRACE_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    id: str
    job_type: str
    instance_id: str
    step_id: str
    step_execution_id: str
    retries_remaining: int
    variables: _struct_pb2.Struct
    lock_expires_at: _timestamp_pb2.Timestamp
    lease: int
    progress: _struct_pb2.Struct
    trace_context: _containers.ScalarMap[str, str]
    def __init__(self, id: _Optional[str] = ..., job_type: _Optional[str] = ..., instance_id: _Optional[str] = ..., step_id: _Optional[str] = ..., step_execution_id: _Optional[str] = ..., retries_remaining: _Optional[int] = ..., variables: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., lock_expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., lease: _Optional[int] = ..., progress: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., trace_context: _Optional[_Mapping[str, str]] = ...) -> None: ...

class PollJobsRequest(_message.Message):
    __slots__ = ("worker_id", "job_types", "max_jobs", "lease_seconds", "wait_seconds")
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    JOB_TYPES_FIELD_NUMBER: _ClassVar[int]
    MAX_JOBS_FIELD_NUMBER: _ClassVar[int]
    LEASE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    WAIT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    worker_id: str
    job_types: _containers.RepeatedScalarFieldContainer[str]
    max_jobs: int
    lease_seconds: int
    wait_seconds: int
    def __init__(self, worker_id: _Optional[str] = ..., job_types: _Optional[_Iterable[str]] = ..., max_jobs: _Optional[int] = ..., lease_seconds: _Optional[int] = ..., wait_seconds: _Optional[int] = ...) -> None: ...

class PollJobsResponse(_message.Message):
    __slots__ = ("jobs",)
    JOBS_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[Job]
    def __init__(self, jobs: _Optional[_Iterable[_Union[Job, _Mapping]]] = ...) -> None: ...

class CompleteJobRequest(_message.Message):
    __slots__ = ("job_id", "worker_id", "variables_to_set", "lease")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    VARIABLES_TO_SET_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    worker_id: str
    variables_to_set: _struct_pb2.Struct
    lease: int
    def __init__(self, job_id: _Optional[str] = ..., worker_id: _Optional[str] = ..., variables_to_set: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., lease: _Optional[int] = ...) -> None: ...

class CompleteJobResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class FailJobRequest(_message.Message):
    __slots__ = ("job_id", "worker_id", "retryable", "error_message", "lease", "retry_after_millis")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    RETRYABLE_FIELD_NUMBER: _ClassVar[int]
    ERROR_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_MILLIS_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    worker_id: str
    retryable: bool
    error_message: str
    lease: int
    retry_after_millis: int
    def __init__(self, job_id: _Optional[str] = ..., worker_id: _Optional[str] = ..., retryable: bool = ..., error_message: _Optional[str] = ..., lease: _Optional[int] = ..., retry_after_millis: _Optional[int] = ...) -> None: ...

class FailJobResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class HeartbeatRequest(_message.Message):
    __slots__ = ("job_id", "worker_id", "lease", "lease_seconds", "percent", "message", "data")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    LEASE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    PERCENT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    worker_id: str
    lease: int
    lease_seconds: int
    percent: int
    message: str
    data: _struct_pb2.Struct
    def __init__(self, job_id: _Optional[str] = ..., worker_id: _Optional[str] = ..., lease: _Optional[int] = ..., lease_seconds: _Optional[int] = ..., percent: _Optional[int] = ..., message: _Optional[str] = ..., data: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class HeartbeatResponse(_message.Message):
    __slots__ = ("status", "lock_expires_at")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    LOCK_EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    status: str
    lock_expires_at: _timestamp_pb2.Timestamp
    def __init__(self, status: _Optional[str] = ..., lock_expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ReleaseJobRequest(_message.Message):
    __slots__ = ("job_id", "worker_id", "lease", "delay_millis")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    DELAY_MILLIS_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    worker_id: str
    lease: int
    delay_millis: int
    def __init__(self, job_id: _Optional[str] = ..., worker_id: _Optional[str] = ..., lease: _Optional[int] = ..., delay_millis: _Optional[int] = ...) -> None: ...

class ReleaseJobResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class HeartbeatsRequest(_message.Message):
    __slots__ = ("jobs",)
    JOBS_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[HeartbeatRequest]
    def __init__(self, jobs: _Optional[_Iterable[_Union[HeartbeatRequest, _Mapping]]] = ...) -> None: ...

class HeartbeatsResponse(_message.Message):
    __slots__ = ("jobs",)
    JOBS_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[HeartbeatResponse]
    def __init__(self, jobs: _Optional[_Iterable[_Union[HeartbeatResponse, _Mapping]]] = ...) -> None: ...

class ThrowErrorRequest(_message.Message):
    __slots__ = ("job_id", "worker_id", "lease", "error_code", "error_message", "variables")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    LEASE_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODE_FIELD_NUMBER: _ClassVar[int]
    ERROR_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    VARIABLES_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    worker_id: str
    lease: int
    error_code: str
    error_message: str
    variables: _struct_pb2.Struct
    def __init__(self, job_id: _Optional[str] = ..., worker_id: _Optional[str] = ..., lease: _Optional[int] = ..., error_code: _Optional[str] = ..., error_message: _Optional[str] = ..., variables: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class ThrowErrorResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
