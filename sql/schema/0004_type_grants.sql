-- Each type is granted to the role that calls procedures with a parameter or a variable of the
-- type. A type holds no data.
GRANT EXECUTE ON TYPE::duroxide.event_list_v1 TO duroxide_runtime;
GRANT EXECUTE ON TYPE::duroxide.message_list_v1 TO duroxide_runtime;
GRANT EXECUTE ON TYPE::duroxide.queue_list_v1 TO duroxide_runtime;
GRANT EXECUTE ON TYPE::duroxide.work_list_v1 TO duroxide_runtime;
GRANT EXECUTE ON TYPE::duroxide.code_list_v1 TO duroxide_runtime;
GRANT EXECUTE ON TYPE::duroxide.code_id_list_v1 TO duroxide_runtime;
GRANT EXECUTE ON TYPE::duroxide.work_code_list_v1 TO duroxide_runtime;
GRANT EXECUTE ON TYPE::duroxide.version_id_list_v1 TO duroxide_runtime;
GRANT EXECUTE ON TYPE::duroxide.activity_list_v1 TO duroxide_runtime;
GRANT EXECUTE ON TYPE::duroxide.kv_list_v1 TO duroxide_runtime;
GRANT EXECUTE ON TYPE::duroxide.id_list_v1 TO duroxide_reader;
GRANT EXECUTE ON TYPE::duroxide.execution_list_v1 TO duroxide_admin;
GRANT EXECUTE ON TYPE::duroxide.token_list_v1 TO duroxide_runtime;
GRANT EXECUTE ON TYPE::duroxide.completion_list_v1 TO duroxide_runtime;
GRANT EXECUTE ON TYPE::duroxide.turn_claim_v1 TO duroxide_runtime;
GRANT EXECUTE ON TYPE::duroxide.take_list_v1 TO duroxide_runtime;
GRANT EXECUTE ON TYPE::duroxide.lease_list_v1 TO duroxide_runtime;
GRANT EXECUTE ON TYPE::duroxide.letter_list_v1 TO duroxide_runtime;
GO

-- Not the rows, but how many there are: sys.partitions shows a table's to whoever may see its definition.
GRANT VIEW DEFINITION ON duroxide.instances TO duroxide_reader;
GRANT VIEW DEFINITION ON duroxide.executions TO duroxide_reader;
GRANT VIEW DEFINITION ON duroxide.history TO duroxide_reader;
GRANT VIEW DEFINITION ON duroxide.orchestrator_queue TO duroxide_scaler;
GRANT VIEW DEFINITION ON duroxide.worker_queue TO duroxide_scaler;
