# frozen_string_literal: true

module Bontebok
  module StartCommand
    # Ruby's flags -C and -X, which change the directory before the program begins. The command is executed again in the
    # directory that they have led to, where a relative name would lead to another directory.
    module DirectoryFlags
      FLAG = /\A-[CX](.*)\z/mn

      class << self
        # Returns the words with one full name. It may contain a symbolic link, which leads to another directory later.
        # words: Ruby, its flags, and the program. shell: the directory of the shell (PWD), or nil.
        def full(words, shell)
          names, others = split(words)
          names.empty? ? words : [others.first, "-C", directory(names, shell), *others.drop(1)]
        end

        private

        def split(words)
          names = []
          rest = words.dup
          others = []
          while (word = rest.shift)
            next others << word unless (name = word.b[FLAG, 1])

            names << (name.empty? ? rest.shift.to_s : name)
          end
          [names, others]
        end

        def directory(names, shell)
          name = names.reduce(shell || "/") { |base, one| File.absolute_path(one.b, base.b) }
          File.identical?(name, ".") ? name : Dir.pwd
        end
      end
    end
  end
end
