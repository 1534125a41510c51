# frozen_string_literal: true

module Bench
  module Faults
    # One thing that goes wrong. Each subclass is one, and overrides its differences from this one.
    class Fault
      # The name on the command line, "bad-generation" of BadGeneration.
      def name = self.class.name.split("::").last.gsub(/(?<=[a-z])(?=[A-Z])/, "-").downcase

      # Whole processes are taken away by most faults: two workers make that visible. See Contestant.
      def settings = { workers: 2 }

      # Seconds that the application takes to load.
      def load_seconds = 0

      # A command that runs the server.
      def wrap = []

      # The probe's requests: their path, their connections, and the seconds within which a response is in time.
      def path = "/"
      def kinds = %i[new kept]
      def limit = 0.5

      # The worker that has all kept connections of the probe; nil for any.
      def owner(_run) = nil

      # Peers that have no such thing, and why: { "unicorn" => "closes each connection" }.
      def excluded = {}

      # At second 3. It may go on until the probe ends.
      def strike(run) = raise(NotImplementedError)

      # After the probe, while the server still runs.
      def finish(run); end
    end
  end
end
