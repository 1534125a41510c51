# frozen_string_literal: true

# Code that tests share. Only TestCase needs Minitest, so scripts and consoles can require the other files.

require_relative "support/error"
require_relative "support/deadline"
require_relative "support/eventually"
require_relative "support/process_table"
require_relative "support/output"
require_relative "support/ruby/gem_directories"
require_relative "support/child_process"
require_relative "support/ruby/hang_watch"
require_relative "support/address"
require_relative "support/response"
require_relative "support/response_reader"
require_relative "support/client"
require_relative "support/costs"
require_relative "support/server_process"
require_relative "support/bontebok_process"
require_relative "support/held_port"
require_relative "support/length"
require_relative "support/once_more"
require_relative "support/test_case"
