# frozen_string_literal: true

# Itsi refuses what more than 30 others wait for, with 503: here everybody is to be served.
ruby_thread_request_backlog_size 10_000
