# frozen_string_literal: true

require_relative "exchange"

module Conform
  # Tables of cases: bytes on the wire, and how the server must treat them. Each table runs against a real server, over
  # TCP and over a unix socket. One message reports all cases of a table that fail.
  #
  #   class HostTest < Support::TestCase
  #     include Conform::Table
  #     refuses 400, "without Host" => "GET / HTTP/1.1\r\n\r\n"
  #     accepts({ "HTTP_HOST" => "a" }, "with Host" => get("Host: a"))
  #   end
  module Table
    APPLICATION = File.read(File.join(__dir__, "application.ru"))

    Refusal = Struct.new(:name, :bytes, :statuses) do
      def problem(exchange) = exchange.refusal_problem(bytes, statuses)
    end

    # status: of the response. psgi: nil, or a Difference.
    Acceptance = Struct.new(:name, :bytes, :env, :ending, :status, :psgi) do
      def problem(exchange) = exchange.acceptance_problem(bytes, env, ending, status)
    end

    # expected: the values that a PSGI application must get instead, or the status of the server's own response.
    Difference = Struct.new(:reason, :expected)

    # A test case calls these methods in its class body.
    module Tables
      def refusals
        @refusals ||= []
      end

      def acceptances
        @acceptances ||= []
      end

      # statuses: one permitted status, or an Array of them.
      def refuses(statuses, cases)
        define_tests("refuses", refusals)
        cases.each { |name, bytes| refusals << Refusal.new(name, bytes.b, Array(statuses)) }
      end

      # env: the values that the application must get. If a value is nil, env must not have this name. The connection
      # must stay open after the response.
      def accepts(env, cases)
        add_acceptances(env, cases, :kept)
      end

      # As `accepts`, but the server must close the connection after the response.
      def accepts_once(env, cases)
        add_acceptances(env, cases, :closed)
      end

      # Marks cases of `accepts` above that PSGI defines in another way. cases: { name => what a Difference expects }
      def psgi_differs(reason, cases)
        cases.each do |name, expected|
          acceptances.find { |each| each.name == name }.psgi = Difference.new(reason, expected)
        end
      end

      # Returns an HTTP/1.1 request with these field lines. #post adds "Host: a".
      def get(*lines)
        "GET / HTTP/1.1\r\n#{lines.map { |line| "#{line}\r\n" }.join}\r\n".b
      end

      def post(*lines, body: "")
        "POST / HTTP/1.1\r\nHost: a\r\n#{lines.map { |line| "#{line}\r\n" }.join}\r\n".b << body.b
      end

      # Returns a request with a chunked body. body: bytes on the wire, with the chunk sizes.
      def chunked(body)
        post("Transfer-Encoding: chunked", body: body)
      end

      private

      def add_acceptances(env, cases, ending)
        define_tests("accepts", acceptances)
        cases.each { |name, bytes| acceptances << Acceptance.new(name, bytes.b, env, ending, 200) }
      end

      # At the first call, defines one test for each transport. Each test runs the cases of all calls.
      def define_tests(verb, cases)
        return unless cases.empty?

        %i[unix tcp].each do |transport|
          define_method("test_the_server_#{verb}_the_cases_over_#{transport}") { check(transport, cases) }
        end
      end
    end

    def self.included(test_case)
      test_case.extend(Tables)
    end

    # The server's command line arguments. A test case with other limits overrides this method.
    def arguments
      []
    end

    private

    # Conform::Psgi overrides this method.
    def expected_of(acceptance_or_refusal, _address) = acceptance_or_refusal

    def start_application(transport)
      start_bontebok(listen: transport, args: ["-w", "1", "-E", "production", *arguments], rackup: APPLICATION)
    end

    def check(transport, cases)
      server = start_application(transport)
      exchange = Exchange.new(server, server.address)
      problems = cases.filter_map do |each|
        problem = expected_of(each, server.address).problem(exchange)
        "#{each.name}: #{problem}" if problem
      end
      assert_empty problems, "#{problems.size} of #{cases.size} cases over #{transport}:\n#{problems.join("\n")}\n"
    end
  end
end
