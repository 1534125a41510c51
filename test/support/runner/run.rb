# frozen_string_literal: true

require "fileutils"
require "rbconfig"
require_relative "../once_more"
require_relative "costs"
require_relative "options"
require_relative "report"
require_relative "schedule"
require_relative "stamps"

module Runner
  # One run of bin/test.
  class Run
    # Signals that end the run and all its jobs.
    ENDING = %w[INT TERM HUP].freeze
    DIRECTORY = "tmp/test"
    LEFTOVERS = File.expand_path("../leftovers.rb", __dir__)

    def initialize(arguments)
      @arguments = arguments
    end

    # Returns the exit status.
    def call
      ENDING.each { |signal| trap(signal) { raise Interrupt, signal } }
      options = Options.new(@arguments)
      return Report.list if options.list?

      system("bin/setup") ? run(options) : 1
    rescue OptionParser::ParseError, ArgumentError => e
      warn e.message
      2
    rescue Interrupt => e
      stop(options ? options.groups : [], e.message)
    ensure
      @schedule&.stop
    end

    private

    def run(options)
      puts "nothing has changed" if options.groups.empty?
      prepare
      stamps = Stamps.new { Inputs.new(Groups.default.map(&:name)) }
      left_out = options.again? ? [] : options.groups.select { |group| stamps.passed?(group) }
      groups = options.groups - left_out
      stamps.remove(groups)
      costs = run_groups(groups, left_out, limits: options.full? ? {} : Costs.limits)
      return 1 unless nothing_left?(groups)

      stamps.note(costs.within_limits) unless options.full?
      groups.all?(&:passed?) && costs.excess.empty? ? 0 : 1
    end

    # Returns the Costs.
    def run_groups(groups, left_out, limits:)
      report = Report.new(groups, left_out, ENV.fetch(Support::OnceMore::FILE))
      @schedule = Schedule.new(groups, DIRECTORY) { |group| report.print_group(group) }
      @schedule.run
      Costs.new(groups, limits: limits).tap do |costs|
        costs.write(File.join(DIRECTORY, "costs.json"))
        report.sum_up(costs)
      end
    end

    def prepare
      FileUtils.rm_rf(DIRECTORY)
      FileUtils.mkdir_p(DIRECTORY)
      ENV[Support::OnceMore::FILE] = File.expand_path("again", DIRECTORY)
    end

    # Returns the exit status that shells use for a signal: 128 plus its number.
    def stop(groups, signal)
      ENDING.each { |name| trap(name, "IGNORE") }
      @schedule&.stop
      warn "bin/test: ended by SIG#{signal}"
      nothing_left?(groups)
      128 + Signal.list.fetch(signal)
    end

    # Prints the processes that the jobs have left behind. Returns true if there are none.
    def nothing_left?(groups)
      system(RbConfig.ruby, "--disable=gems", LEFTOVERS, *groups.flat_map(&:jobs).filter_map(&:pid).map(&:to_s))
    end
  end
end
