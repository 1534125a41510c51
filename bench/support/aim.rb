# frozen_string_literal: true

module Bench
  module_function

  # One line that sets a figure beside what it is to be. A benchmark fails nobody: its reader judges.
  def aim(text, met)
    puts "aim: #{text}: #{met ? "met" : "NOT MET"}"
  end
end
