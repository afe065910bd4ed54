-- What the caller has sent as X-Request-Id, to find a request by the id that its own logs have.
alter table api_requests add column caller_id text;
