# frozen_string_literal: true

# By default Itsi responds with 503 if more than 30 requests wait. In the bench it has to serve all of them.
ruby_thread_request_backlog_size 10_000
