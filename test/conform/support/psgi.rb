# frozen_string_literal: true

require_relative "psgi_process"
require_relative "table"

module Conform
  # Runs the tests of a class with `plackup -s Bontebok` and an application in Perl:
  #
  #   class PsgiHostTest < HostTest
  #     include Conform::Psgi
  #   end
  #
  # #applications names the applications in Perl: { text of config.ru => name of a file in psgi/ }. The default has the
  # application of the tables. A class with other applications overrides #applications.
  module Psgi
    def applications = { Table::APPLICATION => "echo" }

    def start_bontebok(rackup:, listen: :unix, **options)
      server = PsgiProcess.new(temp_dir, applications.fetch(rackup), address_of(listen), **options)
      children << server
      server.wait_until_ready
    end

    private

    # plackup cannot listen on port 0.
    def address_of(listen)
      Support::Address.new(listen == :tcp ? "127.0.0.1:#{held_port}" : "unix:#{temp_dir}/bontebok.sock")
    end

    def expected_of(acceptance_or_refusal, address)
      return acceptance_or_refusal unless acceptance_or_refusal.is_a?(Table::Acceptance)

      acceptance_or_refusal.dup.tap { |expected| adapt(expected, address) }
    end

    def adapt(expected, address)
      other = expected.psgi&.expected
      return expected.status = other if other.is_a?(Integer)

      expected.env = expected.env.merge(other || {}, listener(address).slice(*expected.env.keys))
    end

    # SERVER_NAME and SERVER_PORT are those of the listener, not of the requested host.
    def listener(address)
      name, port = address.unix? ? ["localhost", address.to_s.delete_prefix("unix:")] : address.to_s.split(":")
      { "SERVER_NAME" => name, "SERVER_PORT" => port }
    end
  end
end
