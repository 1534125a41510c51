# frozen_string_literal: true

require_relative "commands"

module Bench
  module Files
    # The servers of bench/files, and the conditions that stand beside their figures.
    module Servers
      # gem: whose version is printed. transports: over which it can be asked. start: a method of Commands.
      Server = Struct.new(:name, :gem, :transports, :start, :condition, keyword_init: true) do
        def command(place) = Commands.public_send(start, place)

        def version
          name == "nginx" ? Nginx.version : File.read("#{Commands::GEMFILE}.lock")[/^ {4}#{gem} \(([\d.]+)/, 1]
        end
      end
      OURS = "bontebok"
      BOTH = %w[tcp unix].freeze
      TCP = %w[tcp].freeze
      YJIT = Commands::YJIT.any? ? "YJIT" : "no YJIT"
      STATIC = "ActionDispatch::Static"
      OPTION = Commands::PUBLIC.call("DIR")
      ALL = [
        Server.new(name: OURS, gem: "bontebok", transports: BOTH, start: :bontebok,
                   condition: "#{OPTION.join(' ')}, 1 thread per worker"),
        Server.new(name: "bontebok Static", gem: "bontebok", transports: BOTH, start: :bontebok_static,
                   condition: "no #{OPTION.first}: the application has #{STATIC}; 1 thread, #{YJIT}"),
        Server.new(name: "nginx", transports: BOTH, start: :nginx,
                   condition: "sendfile, tcp_nopush, open_file_cache max=2048 inactive=60s, valid 1s"),
        Server.new(name: "puma", gem: "puma", transports: BOTH, start: :puma,
                   condition: "#{STATIC}, #{Commands::PUMA_THREADS} threads, #{YJIT}"),
        Server.new(name: "thruster", gem: "thruster", transports: TCP, start: :thruster,
                   condition: "puma behind it; cache 64 MB, items up to 1 MB, X-Sendfile; no request log"),
        Server.new(name: "iodine", gem: "iodine", transports: BOTH, start: :iodine, condition: "-www, 1 thread"),
        Server.new(name: "agoo", gem: "agoo", transports: BOTH, start: :agoo,
                   condition: "root_first; it keeps files in its memory"),
        Server.new(name: "falcon", gem: "falcon", transports: TCP, start: :falcon,
                   condition: "Rack::Static, 1 process per worker, #{YJIT}")
      ].freeze

      module_function

      # only, without: names, or nil.
      def chosen(only, without)
        unknown = [*only, *without] - ALL.map(&:name)
        abort("no such server: #{unknown.first}; there are #{ALL.map(&:name).join(', ')}") if unknown.any?
        ALL.select { |server| (only.nil? || only.include?(server.name)) && !without.to_a.include?(server.name) }
      end
    end
  end
end
