# frozen_string_literal: true

require_relative "groups"

module Runner
  # The lines that bin/test prints.
  class Report
    # Prints all groups. Returns the exit status.
    def self.list
      Groups.all.each do |group|
        puts "#{group.name.ljust(12)}  #{group.about}#{" (with --full, or when it is named)" unless group.default?}"
      end
      0
    end

    # left_out: the groups that need not run. again: the file with the names of the tests that ran again.
    def initialize(groups, left_out, again)
      @groups = groups
      @left_out = left_out
      @again = again
      @started = now
    end

    def print_group(group)
      puts "\n== #{group.name}: #{group.about}"
      group.jobs.each { |job| puts job.output }
    end

    def sum_up(costs)
      puts format("\n== bin/test: %d s", now - @started)
      @groups.each do |group|
        puts format("   %-12s %-7s %4d s, %4d s of processors", group.name, group.passed? ? "passed" : "FAILED",
                    group.seconds, group.cpu_seconds)
      end
      tell_what_was_left_out
      costs.lines.each { |line| puts "   #{line}" }
      tell_who_ran_again
      tell_what_failed
    end

    private

    def tell_what_was_left_out
      puts "   nothing has changed since these passed: #{@left_out.map(&:name).join(" ")}" if @left_out.any?
    end

    def tell_who_ran_again
      names = File.exist?(@again) ? File.readlines(@again, chomp: true) : []
      puts "   ran once more: #{names.size}"
      names.each { |name| puts "     #{name}" }
    end

    # Repeats the failures at the end, because a reader may see only the last lines.
    def tell_what_failed
      @groups.each do |group|
        group.jobs.reject(&:passed?).each { |job| puts "\n== FAILED: #{group.label(job)}", job.failures }
      end
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
