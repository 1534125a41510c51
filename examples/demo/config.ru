# frozen_string_literal: true

# The demo that bin/run serves: plain Rack, no framework, no files besides this directory's.

require_relative "demo"

run Demo.new
