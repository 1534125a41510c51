# frozen_string_literal: true

module Bench
  module Psgi
    # Tables in Markdown whose rows are printed as they come.
    module Markdown
      module_function

      # words: the number of columns with words, which come first. The others have numbers.
      def head(columns, words)
        row(columns)
        puts "|#{columns.each_index.map { |index| index < words ? '---|' : '---:|' }.join}"
      end

      def row(values)
        puts "| #{values.join(' | ')} |"
        $stdout.flush
      end
    end
  end
end
