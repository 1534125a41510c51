# frozen_string_literal: true

module Bontebok
  # Rhebok's way to say in a configuration file where to listen: host and port, or path for a unix socket.
  module RhebokAddress
    class << self
      # The entry of Listen that these stand for; nil when the file has none of them.
      def entry(entries)
        parts = entries.slice(:host, :port, :path)
        return if parts.empty?

        ConfigFile::Entry.new(text(**parts.transform_values(&:value)), parts.values.first.place)
      end

      private

      def text(host: "0.0.0.0", port: 9292, path: nil)
        path ? "unix:#{path}" : Address.text(host, port)
      end
    end
  end
end
