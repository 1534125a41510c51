# frozen_string_literal: true

# The demo that bin/run serves: plain Rack, without a framework, and only the files of this directory.

require_relative "demo"

run Demo.new
