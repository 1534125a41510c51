# frozen_string_literal: true

module Bench
  module Faults
    # One fault. Each subclass overrides the methods in which it differs.
    class Fault
      # The name on the command line: "bad-generation" for BadGeneration.
      def name = self.class.name.split("::").last.gsub(/(?<=[a-z])(?=[A-Z])/, "-").downcase

      # The server's settings, see Contestant. Most faults hit one process, so there are two workers.
      def settings = { workers: 2 }

      # Seconds that the application takes to load.
      def load_seconds = 0

      # A command that runs the server's command, such as prlimit.
      def wrap = []

      # The requests of the probe (the client that measures). limit: a response is in time within this number of
      # seconds.
      def path = "/"
      def kinds = %i[new kept]
      def limit = 0.5

      # The pid of the worker to which all kept-alive connections of the probe go; nil for any worker.
      def owner(_run) = nil

      # Peers without this feature, and the reason: { "unicorn" => "closes each connection" }.
      def excluded = {}

      # Called at second 3. This method is allowed to run until the probe ends.
      def strike(run) = raise(NotImplementedError)

      # Called after the probe, while the server still runs.
      def finish(run); end
    end
  end
end
