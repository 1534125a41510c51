# frozen_string_literal: true

require "fileutils"
require_relative "inputs"

module Runner
  # Notes which groups have passed in this checkout, and with which inputs. A group that would have the same inputs
  # again need not run. The notes are in the checkout's tmp/, so a fresh clone runs all groups.
  class Stamps
    DIRECTORY = "tmp/passed"

    # inputs: makes the Inputs, as they are at that time.
    def initialize(&inputs)
      @inputs = inputs
      @before = inputs.call
    end

    def passed?(group)
      digest = @before.digest(group.name)
      !digest.nil? && File.exist?(path(group)) && File.read(path(group)) == digest
    end

    # Called before the groups run.
    def remove(groups)
      groups.each { |group| FileUtils.rm_f(path(group)) }
    end

    # Called after the groups have run. A group gets a note if it has passed whole, and no input has changed
    # meanwhile.
    def note(groups)
      FileUtils.mkdir_p(DIRECTORY)
      after = @inputs.call
      groups.select { |group| group.passed? && !group.part? }.each do |group|
        digest = @before.digest(group.name)
        File.write(path(group), digest) if digest && digest == after.digest(group.name)
      end
    end

    private

    def path(group) = File.join(DIRECTORY, group.name)
  end
end
