# frozen_string_literal: true

module Bontebok
  # Finds the address in a configuration file for Rhebok (another Rack server): host and port, or the path of a unix
  # socket. Used by Config.
  module RhebokAddress
    class << self
      # Returns the entry for Listen, or nil if the file sets none of host, port and path.
      def entry(entries)
        parts = entries.slice(:host, :port, :path)
        return if parts.empty?

        values = parts.transform_values { |part| OptionTable[:listen].plain(part.value, part.place) }
        ConfigFile::Entry.new(text(**values), parts.values.first.place)
      end

      private

      def text(host: "0.0.0.0", port: 9292, path: nil)
        path ? Address::Path.new(path.to_s) : Address.text(host, port)
      end
    end
  end
end
