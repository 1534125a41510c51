# frozen_string_literal: true

# By default Itsi responds with 503 if more than 30 requests wait. In the benchmarks Itsi must serve every request.
ruby_thread_request_backlog_size 10_000
