# frozen_string_literal: true

require_relative "servers"

module Bench
  module Files
    # The tables of bench/files. Rows are cells, columns are servers.
    class Report
      MEGABYTE = 1024.0**2
      # If the load tool uses this share of its CPU or more, it limits the rate.
      LOAD_LIMIT = 900_000

      # servers: all that were chosen. figures: a Figures. faults: { [cell, name] => why it was not measured }.
      def initialize(servers, figures, faults)
        @servers = servers
        @figures = figures
        @faults = faults
      end

      def conditions(fields)
        @servers.each do |server|
          next unless fields.key?(server.name)

          puts "- #{server.name} #{server.version}: #{server.condition}; sends #{fields[server.name].sort.join(', ')}"
        end
      end

      def tables(transport, cells, names)
        table("#{transport}: CPU microseconds per request (page: of all its requests)", cells, names) { |*at| cpu(*at) }
        table("#{transport}: requests (page: pages) per second", cells, names) { |*at| rate(*at) }
      end

      def memory(transport, memory)
        puts "", "#{transport}: MB of all processes (PSS) at the end, and their number", ""
        row(["", *memory.keys])
        row(["---", *memory.keys.map { "---:" }])
        row(["PSS", *memory.values.map { |processes, bytes| format("%.1f (%d)", bytes / MEGABYTE, processes) }])
      end

      def notes
        return if @faults.empty?

        puts "", "-: not measured"
        @faults.group_by { |(cell, name), reason| [name, cell.work.name, reason] }.each_key do |name, work, reason|
          puts "- #{name}, #{work}: #{reason}"
        end
      end

      private

      def table(title, cells, names)
        puts "", title, ""
        row(["", *names])
        row(["---", *names.map { "---:" }])
        cells.each { |cell| row(["#{cell.work.name} #{cell.mode}", *names.map { |name| yield(cell, name) }]) }
      end

      def cpu(cell, name)
        @figures.failed?(cell, name) ? missing(cell, name) : number(@figures.cpu(cell, name) * cell.work.per)
      end

      # *: the load tool limits the rate.
      def rate(cell, name)
        return missing(cell, name) if @figures.failed?(cell, name)

        rate = @figures.rate(cell, name)
        "#{number(rate / cell.work.per)}#{'*' if rate * @figures.load(cell, name) > LOAD_LIMIT}"
      end

      def missing(cell, name) = @faults.key?([cell, name]) ? "-" : "fails"
      def number(value) = value < 1000 ? format("%.3g", value) : value.round.to_s
      def row(values) = puts("| #{values.join(' | ')} |")
    end
  end
end
