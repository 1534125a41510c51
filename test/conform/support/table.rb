# frozen_string_literal: true

require_relative "exchange"

module Conform
  # Cases of bytes on the wire and what must become of them, as tables. Each table is run against a real server over
  # TCP and over a unix socket; all wrong cases are told at once.
  #
  #   class HostTest < Support::TestCase
  #     include Conform::Table
  #     refuses 400, "without Host" => "GET / HTTP/1.1\r\n\r\n"
  #     accepts({ "HTTP_HOST" => "a" }, "with Host" => get("Host: a"))
  #   end
  module Table
    APPLICATION = File.read(File.join(__dir__, "application.ru"))
    Refusal = Struct.new(:name, :bytes, :statuses)
    Acceptance = Struct.new(:name, :bytes, :env, :ending)

    # What a test case's class body says.
    module Tables
      def refusals
        @refusals ||= []
      end

      def acceptances
        @acceptances ||= []
      end

      # statuses: one, or an Array of allowed ones.
      def refuses(statuses, cases)
        define_tests("refuses", refusals) { |exchange, each| exchange.refusal_problem(each.bytes, each.statuses) }
        cases.each { |name, bytes| refusals << Refusal.new(name, bytes.b, Array(statuses)) }
      end

      # env: what the application must see, nil for a name that must not be there. The connection stays.
      def accepts(env, cases)
        add_acceptances(env, cases, :kept)
      end

      # The connection ends with the answer.
      def accepts_once(env, cases)
        add_acceptances(env, cases, :closed)
      end

      # A request of version 1.1 with these field lines; post has "Host: a" as well.
      def get(*lines)
        "GET / HTTP/1.1\r\n#{lines.map { |line| "#{line}\r\n" }.join}\r\n".b
      end

      def post(*lines, body: "")
        "POST / HTTP/1.1\r\nHost: a\r\n#{lines.map { |line| "#{line}\r\n" }.join}\r\n".b << body.b
      end

      # A request whose body is chunked, as it is written.
      def chunked(body)
        post("Transfer-Encoding: chunked", body: body)
      end

      private

      def add_acceptances(env, cases, ending)
        define_tests("accepts", acceptances) do |exchange, each|
          exchange.acceptance_problem(each.bytes, each.env, each.ending)
        end
        cases.each { |name, bytes| acceptances << Acceptance.new(name, bytes.b, env, ending) }
      end

      # One test for each transport, once the table's first cases come.
      def define_tests(verb, cases, &problem)
        return unless cases.empty?

        %i[unix tcp].each do |transport|
          define_method("test_#{verb}_over_#{transport}") { check(transport, cases, &problem) }
        end
      end
    end

    def self.included(test_case)
      test_case.extend(Tables)
    end

    # Arguments of the server, overridden where a limit is to be small.
    def arguments
      []
    end

    private

    def start_application(transport)
      start_bontebok(listen: transport, args: ["-w", "1", "-E", "production", *arguments], rackup: APPLICATION)
    end

    def check(transport, cases)
      server = start_application(transport)
      exchange = Exchange.new(server, server.address)
      problems = cases.filter_map do |each|
        problem = yield(exchange, each)
        "#{each.name}: #{problem}" if problem
      end
      assert_empty problems, "#{problems.size} of #{cases.size} cases over #{transport}:\n#{problems.join("\n")}\n"
    end
  end
end
