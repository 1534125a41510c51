# frozen_string_literal: true

require "json"
require "open3"
require_relative "build"

module Bench
  # Runs the load tool on the core of the clients.
  module Load
    CORE = 0

    module_function

    # What the calling process does itself, it does on the clients' core.
    def stay_on_core
      system("taskset", "-a", "-p", "-c", CORE.to_s, Process.pid.to_s, out: File::NULL)
    end

    # address: "/path" or "127.0.0.1:PORT". Returns the tool's result as a Hash.
    def run(address, *arguments)
      url = address.start_with?("/") ? "unix:#{address}:/" : "http://#{address}/"
      output, = Open3.capture2("taskset", "-c", CORE.to_s, Build.load_tool, "--json", *arguments.map(&:to_s), url)
      JSON.parse(output)
    end
  end
end
