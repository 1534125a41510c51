# frozen_string_literal: true

# The configuration of Puma for bench/files, with more than one worker. Puma must not replace a worker that bench/files
# has frozen while it measures others.
worker_timeout 3600
